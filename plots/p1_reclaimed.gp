# P1 with and without reclamation, four panels on one time axis.
base = ARG1; common = ARG2; terminal_name = ARG3
load common.'/common.gp'
load base.'.vars'
points = base.'.tsv'

style(i) = int(word(styles, i))
# Without reclamation: thin and dotted; with it: thick.
is_reclaimed(i) = word(reclaimed, i) eq '1'
# Each pair once: the first arm of its name.
is_new(i, k) = k >= i ? 1 : word(policies, k) eq word(policies, i) ? 0 : is_new(i, k + 1)
nth_new(n, i) = is_new(i, 1) ? (n == 1 ? i : nth_new(n - 1, i + 1)) : nth_new(n, i + 1)
legend_count = sum [i=1:arm_count] is_new(i, 1)
legend_name(i) = word(policies, nth_new(i, 1))
legend_colour(i) = colour(style(nth_new(i, 1)))
legend_lw(i) = 3
legend_left = 24
legend_top = 101
legend_width = 1136
pushed = (legend_rows(legend_width, legend_count) - 1) * legend_row
page_width = 1180
page_height = 860 + pushed
page_font = 13
load common.'/page.gp'

set multiplot
do for [p=0:3] {
    unset label; unset arrow; unset logscale y
    if (p == 0) {
        set label 1 title_text at screen 0.02,down(24) left font ',19'
        set label 2 caption at screen 0.02,down(52) left textcolor rgb '#444444'
        set label 3 'Thick: with reclamation; dotted: without. Mean over seeds in windows of '.window.'; bands: 95 % interval. Thin grey: reported.' \
            at screen 0.02,down(73) left textcolor rgb '#444444'
        load common.'/legend.gp'
    }
    c = p % 2; r = p / 2
    set lmargin at screen 0.080 + 0.500 * c; set rmargin at screen 0.485 + 0.500 * c
    set tmargin at screen down(pushed+150+357*r); set bmargin at screen down(pushed+430+357*r)
    set xrange [0:hours]
    if (time_step(hours) > 0) { set xtics time_step(hours) } else { set xtics auto }
    set yrange [*:*]
    if (p == 0) { set title 'Size of the manifest' offset 0,-0.6 font ',14'; set ylabel 'MiB (log scale)' offset 1,0; set logscale y }
    if (p == 1) { set title sprintf('Commit success (reported: %.1f %%)', reported_success) offset 0,-0.6 font ',14'; set ylabel 'won / decided attempts, %' offset 1,0; set yrange [0:100] }
    if (p == 2) { set title 'Age of a batch when it becomes visible: median' offset 0,-0.6 font ',14'; set ylabel 's (log scale)' offset 1,0; set logscale y }
    if (p == 3) { set title 'Age when visible: 99th percentile' offset 0,-0.6 font ',14'; set ylabel 's (log scale)' offset 1,0; set logscale y }
    if (r == 1) { set xlabel 'time since the start, hours' offset 0,0.4 } else { unset xlabel }
    quantity = p == 0 ? 1 : p == 1 ? 4 : p == 2 ? 2 : 3
    if (word(measured, quantity) eq '0') {
        unset logscale y
        set yrange [0:1]
        unset ytics
        set label 8 'not measured in so short or so slow a run' at graph 0.5,0.5 center textcolor rgb '#444444'
        plot -1 with lines lc rgb '#ffffff'
        set ytics auto
        continue
    }
    q = p == 0 ? 2 : p == 1 ? 11 : p == 2 ? 5 : 8
    reported = p == 1 ? reported_success : NaN
    plot reported with lines ls 20, \
         for [i=1:arm_count] points index i-1 using 1:q+1:q+2 with filledcurves fc rgb colour(style(i)), \
         for [i=1:arm_count] points index i-1 using 1:(is_reclaimed(i) ? column(q) : NaN) with lines lc rgb colour(style(i)) lw 3, \
         for [i=1:arm_count] points index i-1 using 1:(is_reclaimed(i) ? NaN : column(q)) with lines lc rgb colour(style(i)) lw 1.6 dt (3,3)
}
unset multiplot
