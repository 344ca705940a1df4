# Draws a legend (common.gp) by labels, arrows and objects from 101 on.
do for [legend_i=1:legend_count] {
    legend_n = legend_columns(legend_width, legend_count)
    legend_x = legend_left + ((legend_i - 1) % legend_n) * legend_width / real(legend_n)
    legend_y = legend_top + ((legend_i - 1) / legend_n) * legend_row
    if (legend_kind(legend_i) == 0) {
        set arrow 100+legend_i from screen across(legend_x),down(legend_y) to screen across(legend_x+52),down(legend_y) \
            nohead lc rgb legend_colour(legend_i) lw legend_lw(legend_i) dt legend_dash(legend_i)
    }
    if (legend_kind(legend_i) == 1) {
        set object 100+legend_i circle at screen across(legend_x+26),down(legend_y) size screen 5.0/page_width \
            fc rgb legend_colour(legend_i) fs empty border lc rgb legend_colour(legend_i) front
    }
    if (legend_kind(legend_i) == 2) {
        set object 100+legend_i rectangle from screen across(legend_x+10),down(legend_y+8) to screen across(legend_x+42),down(legend_y-8) \
            fc rgb legend_colour(legend_i) fs transparent solid 0.20 noborder front
    }
    if (legend_kind(legend_i) == 3) {
        set object 100+legend_i circle at screen across(legend_x+26),down(legend_y) size screen 6.0/page_width \
            fc rgb legend_colour(legend_i) fs solid noborder front
    }
    set label 100+legend_i legend_name(legend_i) at screen across(legend_x+60),down(legend_y) left
}
