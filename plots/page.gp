# Opens the page: after page_width and page_height are set.
if (terminal_name eq 'svg') {
    set terminal svg size page_width,page_height font 'DejaVu Sans,'.page_font background '#ffffff'
} else {
    set terminal pngcairo size 1.5*page_width,1.5*page_height font 'DejaVu Sans,'.page_font fontscale 1.5 linewidth 1.5 pointscale 1.5
}
set termoption noenhanced
set output base.'.'.terminal_name
