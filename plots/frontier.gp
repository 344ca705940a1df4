# Success against freshness, one curve a policy with its constant swept: the first hour, the last.
load ARG2.'/common.gp'
load ARG1.'.vars'
points = ARG1.'.tsv'

if (ARG3 eq 'svg') { set terminal svg size 1180,760 font 'DejaVu Sans,13' background '#ffffff' } \
else { set terminal pngcairo size 1770,1140 font 'DejaVu Sans,13' fontscale 1.5 linewidth 1.5 pointscale 1.5 }
set output ARG1.'.'.ARG3

# dac's kinds are drawn strongest; the style of the others is theirs by order.
is_dac(g) = strstrt(word(groups, g), 'dac') == 1
others = 0
styles = ''
dacs = 0
do for [g=1:group_count] {
    if (is_dac(g)) { dacs = dacs + 1; styles = styles.sprintf(' %d', dacs == 1 ? 6 : dacs == 2 ? 1 : 7) } \
    else { others = others + 1; styles = styles.sprintf(' %d', others + 1) }
}
style(g) = int(word(styles, g))

set multiplot
do for [h=0:1] {
    unset label; unset arrow
    if (h == 0) {
        set label 1 title_text at screen 0.02,0.965 left font ',19'
        set label 2 caption at screen 0.02,0.925 left textcolor rgb '#444444'
        set label 3 'Each point is one constant; larger ring: its default. Bars: 95 % intervals over seeds, in both directions. Up and to the left is better.' \
            at screen 0.02,0.896 left textcolor rgb '#444444'
        do for [g=1:group_count] {
            x = 0.04 + ((g - 1) % 3) * 0.32
            y = 0.088 - ((g - 1) / 3) * 0.042
            set arrow g from screen x,y to screen x+0.045,y nohead lc rgb colour(style(g)) lw 2 dt style(g)+10
            set label 10+g word(groups, g).': '.word(swept, g) at screen x+0.052,y left
        }
    }
    set lmargin at screen 0.075 + 0.485 * h; set rmargin at screen 0.495 + 0.485 * h
    set tmargin at screen 0.825; set bmargin at screen 0.215
    set logscale x
    set xrange [*:*]
    set yrange [0:100]
    set ylabel 'commit success of the hour, %' offset 1,0
    if (h == 1) { unset ylabel }
    set xlabel 'median age of a batch when it becomes visible, s (log scale)'
    set title sprintf('Hour %d', h == 0 ? 1 : late_hour) offset 0,-0.5 font ',14'
    set label 9 sprintf('reported %.1f %%', reported_success) at graph 0.02, first reported_success-3.5 left textcolor rgb '#333333' front boxed
    plot reported_success with lines ls 20, \
         for [g=1:group_count] points index h*group_count+g-1 using 3:6:4:5:7:8 with xyerrorbars lc rgb colour(style(g)) lw 1 pt 0 ps 0, \
         for [g=1:group_count] points index h*group_count+g-1 using 3:6 with linespoints ls style(g), \
         for [g=1:group_count] points index h*group_count+g-1 using ($2 == 1 ? $3 : NaN):6 with points pt 6 ps 2.2 lw 2 lc rgb colour(style(g))
}
unset multiplot
