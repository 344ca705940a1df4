# Read amplification by the number of ranks: all of it, and what slices cost in small.
base = ARG1; common = ARG2; terminal_name = ARG3
load common.'/common.gp'
load base.'.vars'
points = base.'.tsv'
page_width = 1180
page_height = 744
page_font = 13
load common.'/page.gp'

array names_left[5] = ['slices (ours)', 'dense read: every rank the whole TGB', 'broker: every rank every record', \
    sprintf('reported: slices %.0fx', reported), sprintf('reported: dense reads %.0fx, %d ranks', reported_dense, reported_dense_ranks)]
array styles_left[5] = [1, 3, 5, 0, 0]
array names_right[6] = ['slice headers', 'and HTTP heads', 'and manifests', sprintf('asked: at most %.0f %%', 100 * (asked - 1)), \
    'live: slice headers', 'live: all received']
array styles_right[6] = [1, 7, 8, 0, 1, 5]

set multiplot
set label 1 title_text at screen 0.02,down(24) left font ',19'
set label 2 caption at screen 0.02,down(51) left textcolor rgb '#444444'
set label 3 'Lines: simulated; rings: live, the worst of '.servers.' servers. Slices of '.slices.'. The broker is arithmetic.' at screen 0.02,down(72) left textcolor rgb '#444444'
# Legends, left and right.
legend_top = 138
legend_width = 500
legend_left = 90
legend_count = 5
legend_name(i) = names_left[i]
legend_colour(i) = i > 3 ? '#8a8a8a' : colour(styles_left[i])
legend_lw(i) = i == 1 ? 3 : i > 3 ? 1.1 : 2
legend_dash(i) = i > 3 ? 11 : styles_left[i] + 10
legend_kind(i) = i == 5 ? 3 : 0
load common.'/legend.gp'
set lmargin at screen 0.085; set rmargin at screen 0.500
set tmargin at screen down(306); set bmargin at screen down(670)
set logscale x 2
set logscale y 2
set xrange [0.9*larger(ranks_min, 1):1.15*larger(ranks_max, 2)]
set xtics (@fours)
set yrange [0.7:1.5*larger(ranks_max, reported_dense)]
set ytics (@fours)
set xlabel 'ranks (log scale)'
set ylabel 'fetched / needed (log scale)' offset 0.5,0
set label 4 'Read amplification' at screen 0.290,down(108) center font ',14'
set object 1 circle at first reported_dense_ranks,reported_dense size screen 0.006 fc rgb '#8a8a8a' fs solid noborder front
plot reported with lines ls 20, \
     points using 1:5 with linespoints ls 3, \
     points using 1:6 with lines ls 5, \
     points using 1:2 with linespoints ls 1

unset label; unset arrow; unset object
legend_left = 690
legend_width = 480
legend_count = 6
legend_name(i) = names_right[i]
legend_colour(i) = i == 4 ? '#8a8a8a' : colour(styles_right[i])
legend_lw(i) = i == 1 ? 3 : i == 4 ? 1.1 : 2
legend_dash(i) = i == 4 ? 11 : styles_right[i] + 10
legend_kind(i) = i > 4
load common.'/legend.gp'
set lmargin at screen 0.590; set rmargin at screen 0.980
unset logscale y
over(x) = 100 * (x - 1)
set yrange [0:1.1*over(asked)<*]
set ytics auto
set ylabel 'bytes beyond the slice, %' offset 1.5,0
set label 4 'Slices of '.slices.': what is fetched on top' at screen 0.785,down(108) center font ',14'
plot over(asked) with lines ls 20, \
     points using 1:(over($4)) with linespoints ls 8, \
     points using 1:(over($3)) with linespoints ls 7, \
     points using 1:(over($2)) with linespoints ls 1, \
     points using 1:(over($8)) with points pt 6 ps 1.6 lw 2.2 lc rgb colour(5), \
     points using 1:(over($7)) with points pt 6 ps 1.6 lw 2.2 lc rgb colour(1)
unset multiplot
