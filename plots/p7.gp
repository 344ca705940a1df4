# What is stored over time, and the reduction of its peak by the period of checkpoints.
base = ARG1; common = ARG2; terminal_name = ARG3
load common.'/common.gp'
load base.'.vars'
points = base.'.tsv'

# The run without reclamation is dark, the chosen period thick.
style(i) = word(labels, i) eq 'without' ? 11 : word(chosen, i) eq '1' ? 1 : word('4 5 7 8 3 9 6 10 12 2', (i - 1) % 10 + 1) + 0
legend_count = arm_count
legend_name(i) = word(labels, i)
legend_colour(i) = colour(style(i))
legend_lw(i) = style(i) == 1 ? 3 : 2
legend_dash(i) = style(i) + 10
legend_left = 24
legend_top = 106
legend_width = 1136
pushed = (legend_rows(legend_width, arm_count) - 1) * legend_row
page_width = 1180
page_height = 646 + pushed
page_font = 13
load common.'/page.gp'

# Before any range is set: stats leaves out what lies outside of them.
if (reductions > 0) { stats points index arm_count using 1 nooutput name 'EVERY' }
set multiplot
set label 1 title_text at screen 0.02,down(24) left font ',19'
set label 2 caption at screen 0.02,down(51) left textcolor rgb '#444444'
set label 3 'Steps between checkpoints; mean over seeds, whose peaks fall at different moments; bands: 95 % interval. Grey: reported.' \
    at screen 0.02,down(73) left textcolor rgb '#444444'
load common.'/legend.gp'
set lmargin at screen 0.070; set rmargin at screen 0.545
set tmargin at screen down(pushed+185); set bmargin at screen down(pushed+572)
set xrange [0:*]
set yrange [0:1.05*reported_without<*]
set xlabel 'time since the start, minutes'
set ylabel 'TGBs stored, GiB' offset 1.5,0
set title sprintf("Stored over time\n(reported peaks: %.2f and %.2f GiB)", reported_without, reported_with) offset 0,-0.5 font ',14'
plot for [i=1:arm_count] points index i-1 using 1:3:4 with filledcurves fc rgb colour(style(i)), \
     reported_without with lines ls 20, reported_with with lines ls 20, \
     for [i=1:arm_count] points index i-1 using 1:2 with lines ls style(i)

unset label; unset arrow
set lmargin at screen 0.630; set rmargin at screen 0.980
set yrange [*<0:100]
set ylabel 'reduction of the peak, %' offset 1.5,0
set title sprintf("Reduction (reported: %.1f %%)\nshaded: closed form, longest to mean lags", reported_percent) offset 0,-0.5 font ',13'
if (reductions == 0) {
    set xrange [0:1]
    unset xtics
    set label 9 'no reduction was measured' at graph 0.5,0.5 center textcolor rgb '#444444'
    set xlabel 'steps between checkpoints'
    plot reported_percent with lines ls 20
} else {
    set logscale x 2
    set xrange [0.8*larger(EVERY_min, 1):1.25*larger(EVERY_max, 1)]
    set xlabel 'steps between checkpoints (log scale)'
    plot points index arm_count using 1:5:6 with filledcurves fc rgb colour(7), \
         reported_percent with lines ls 20, \
         points index arm_count using 1:2:3:4 with yerrorbars lc rgb colour(1) lw 1.2 pt 0 ps 0, \
         points index arm_count using 1:2:xtic(1) with linespoints ls 1
}
unset multiplot
