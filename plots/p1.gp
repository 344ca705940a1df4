# Every policy over time, eight panels on one time axis.
base = ARG1; common = ARG2; terminal_name = ARG3
load common.'/common.gp'
load base.'.vars'
points = base.'.tsv'
n = words(arms)

style(i) = int(word(styles, i))
legend_count = n
legend_name(i) = word(arms, i)
legend_colour(i) = colour(style(i))
legend_lw(i) = style(i) == 1 ? 3 : 2
legend_dash(i) = style(i) + 10
legend_left = 24
legend_top = 123
legend_width = 1136
# What the legend's rows push down.
rows = 4
pushed = (legend_rows(legend_width, n) - 1) * legend_row
page_width = 1180
page_height = 1540 + pushed
page_font = 13
load common.'/page.gp'

left(c) = c == 0 ? 0.080 : 0.580
right(c) = left(c) + 0.405
top(r) = 188 + pushed + r * 337
bottom(r) = top(r) + 262
# Column of a quantity's mean in the points; its low and high follow.
first(q) = 2 + 3 * q

# Title and legend belong to the first panel, which is drawn once: they stay outside of the data.
set multiplot
do for [p=0:7] {
    r = p / 2
    c = p % 2
    unset label; unset arrow; unset logscale y
    if (p == 0) {
        set label 1 title_text at screen 0.02,down(29) left font ',19'
        set label 2 caption at screen 0.02,down(62) left textcolor rgb '#444444'
        set label 3 'Lines: mean over seeds in windows of '.window.'. Bands: 95 % interval of that mean. Thin grey: what the paper reports for DAC.' \
            at screen 0.02,down(85) left textcolor rgb '#444444'
        load common.'/legend.gp'
    }
    set lmargin at screen left(c); set rmargin at screen right(c)
    set tmargin at screen down(top(r)); set bmargin at screen down(bottom(r))
    set xrange [0:hours]
    if (time_step(hours) > 0) { set xtics time_step(hours) } else { set xtics auto }
    set ytics auto
    set yrange [*:*]
    reported = NaN
    if (p == 0) { q = 0; heading = sprintf('Commit success (reported: %.1f %%)', reported_success); reported = reported_success; set ylabel 'won / decided attempts, %'; set yrange [0:100] }
    if (p == 1) { q = 0; heading = sprintf('Commit success near the top (reported: %.1f %%)', reported_success); reported = reported_success; set ylabel 'won / decided attempts, %'; set yrange [80:100] }
    if (p == 2) { q = 1; heading = sprintf('Committed throughput (reported: %.1f MB/s)', reported_mb_s); reported = reported_mb_s; set ylabel 'MB/s, all producers'; set yrange [0<*<0.5*offered_mb_s:1.05*offered_mb_s<*] }
    if (p == 3) { q = 6; heading = "Fairness: Jain's index of an hour's committed bytes"; set ylabel '1 = all equal'; set yrange [0<*<0.85:1.01] }
    if (p == 4) { q = 4; heading = 'Age of a batch when it becomes visible: median'; set ylabel 's (log scale)'; set logscale y }
    if (p == 5) { q = 5; heading = 'Age when visible: 99th percentile'; set ylabel 's (log scale)'; set logscale y }
    if (p == 6) { q = 2; heading = 'Size of the manifest'; set ylabel 'MiB'; set yrange [0:*] }
    if (p == 7) { q = 3; heading = 'Time of one commit attempt'; set ylabel 's'; set yrange [0:*] }
    set title heading offset 0,-0.6 font ',14'
    set ylabel offset 1,0
    if (r == rows - 1) { set xlabel 'time since the start, hours' offset 0,0.4 } else { unset xlabel }
    m = first(q)
    measured_points = int(word(measured, q + 1))
    if (measured_points == 0) {
        unset logscale y
        set yrange [0:1]
        unset ytics
        set label 8 'not measured in so short or so slow a run' at graph 0.5,0.5 center textcolor rgb '#444444'
        plot -1 with lines lc rgb '#ffffff'
    } else {
        # So few points that lines may have only one.
        few = measured_points < 4
        plot for [i=1:n] points index i-1 using 1:m+1:m+2 with filledcurves fc rgb colour(style(i)), \
             reported with lines ls 20, \
             for [i=1:n] points index i-1 using 1:m with lines ls style(i), \
             for [i=1:n] points index i-1 using 1:(few ? column(m) : NaN) with points ls style(i)
    }
}
unset multiplot
