# Read amplification by the number of ranks: all of it, and what slices cost in small.
load ARG2.'/common.gp'
load ARG1.'.vars'
points = ARG1.'.tsv'

if (ARG3 eq 'svg') { set terminal svg size 1180,620 font 'DejaVu Sans,13' background '#ffffff' } \
else { set terminal pngcairo size 1770,930 font 'DejaVu Sans,13' fontscale 1.5 linewidth 1.5 pointscale 1.5 }
set output ARG1.'.'.ARG3

set multiplot
set label 1 title_text at screen 0.02,0.962 left font ',19'
set label 2 caption at screen 0.02,0.918 left textcolor rgb '#444444'
set label 3 'Lines: simulated; rings: live, the worst of two servers. Slices of 1 MiB. The broker is arithmetic.' at screen 0.02,0.884 left textcolor rgb '#444444'
array names[3] = ['slices (ours)', 'dense read: every rank the whole TGB', 'broker: every rank every record']
array styles[3] = [1, 3, 5]
set lmargin at screen 0.075; set rmargin at screen 0.500
set tmargin at screen 0.800; set bmargin at screen 0.120
set logscale x 2
set logscale y 2
set xrange [0.9:1200]
set xtics (1, 4, 16, 64, 256, 1024)
set yrange [0.7:1500]
set ytics (1, 4, 16, 64, 256, 1024)
set xlabel 'ranks (log scale)'
set ylabel 'bytes fetched / bytes needed (log scale)' offset 0.5,0
set title 'Read amplification' offset 0,-0.5 font ',14'
do for [i=1:3] {
    y = 0.775 - 0.038 * (i - 1)
    set arrow 20+i from screen 0.085,y to screen 0.125,y nohead lc rgb colour(styles[i]) lw (i == 1 ? 3 : 2) dt styles[i]+10
    set label 20+i names[i] at screen 0.131,y left font ',12'
}
set label 9 sprintf('reported %.0fx', reported) at first 1000,1.25 right textcolor rgb '#333333'
set label 10 sprintf("reported\n%.0fx", reported_dense) at first 150,80 left textcolor rgb '#333333'
set object 1 circle at first 128,reported_dense size screen 0.006 fc rgb '#8a8a8a' fs solid noborder front
plot reported with lines ls 20, \
     points using 1:5 with linespoints ls 3, \
     points using 1:6 with lines ls 5, \
     points using 1:2 with linespoints ls 1

unset label; unset arrow; unset object
set lmargin at screen 0.590; set rmargin at screen 0.980
unset logscale y
set yrange [0:2.2]
set ytics auto
set ylabel 'bytes beyond the slice, %' offset 1.5,0
set title 'Slices of 1 MiB: what is fetched on top' offset 0,-0.5 font ',14'
over(x) = 100 * (x - 1)
set label 9 sprintf('asked: at most %.0f %%', over(asked)) at graph 0.98, first over(asked)+0.07 right textcolor rgb '#333333'
array parts[5] = ['slice headers', 'and HTTP heads', 'and manifests', 'live: slice headers', 'live: all that was received']
array part_styles[5] = [1, 7, 8, 1, 5]
do for [i=1:5] {
    y = 0.720 - 0.038 * (i - 1)
    if (i <= 3) { set arrow 20+i from screen 0.605,y to screen 0.645,y nohead lc rgb colour(part_styles[i]) lw (i == 1 ? 3 : 2) dt part_styles[i]+10 } \
    else { set object 20+i circle at screen 0.625,y size screen 0.005 fc rgb colour(part_styles[i]) fs empty border lc rgb colour(part_styles[i]) front }
    set label 20+i parts[i] at screen 0.651,y left font ',12'
}
plot over(asked) with lines ls 20, \
     points using 1:(over($4)) with linespoints ls 8, \
     points using 1:(over($3)) with linespoints ls 7, \
     points using 1:(over($2)) with linespoints ls 1, \
     points using 1:(over($8)) with points pt 6 ps 1.6 lw 2.2 lc rgb colour(5), \
     points using 1:(over($7)) with points pt 6 ps 1.6 lw 2.2 lc rgb colour(1)
unset multiplot
