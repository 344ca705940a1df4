# What is stored over time, and the reduction of its peak by the period of checkpoints.
load ARG2.'/common.gp'
load ARG1.'.vars'
points = ARG1.'.tsv'

if (ARG3 eq 'svg') { set terminal svg size 1180,620 font 'DejaVu Sans,13' background '#ffffff' } \
else { set terminal pngcairo size 1770,930 font 'DejaVu Sans,13' fontscale 1.5 linewidth 1.5 pointscale 1.5 }
set output ARG1.'.'.ARG3

# The run without reclamation is dark, the chosen period thick.
style(i) = word(labels, i) eq 'without' ? 11 : word(chosen, i) eq '1' ? 1 : 3 + i
set multiplot
set label 1 title_text at screen 0.02,0.962 left font ',19'
set label 2 caption at screen 0.02,0.918 left textcolor rgb '#444444'
set label 3 'Lines: mean over seeds, whose peaks fall at different moments; bands: 95 % interval. Grey: the reported peaks.' at screen 0.02,0.884 left textcolor rgb '#444444'
set lmargin at screen 0.070; set rmargin at screen 0.545
set tmargin at screen 0.760; set bmargin at screen 0.120
set xrange [0:*]
set yrange [0:1.15*reported_without]
set xlabel 'time since the start, minutes'
set ylabel 'TGBs stored, GiB' offset 1.5,0
set title 'Stored, by steps between checkpoints' offset 0,-0.5 font ',14'
do for [i=1:arm_count] {
    x = 0.070 + (i - 1) * 0.475 / arm_count
    set arrow 20+i from screen x,0.838 to screen x+0.030,0.838 nohead lc rgb colour(style(i)) lw (style(i) == 1 ? 3 : 2) dt style(i)+10
    set label 20+i word(labels, i) at screen x+0.034,0.838 left font ',12'
}
set label 8 sprintf('reported %.2f', reported_without) at graph 0.02, first 1.035*reported_without left textcolor rgb '#333333'
set label 9 sprintf('reported %.2f', reported_with) at graph 0.99, first 1.17*reported_with right textcolor rgb '#333333' front boxed
plot for [i=1:arm_count] points index i-1 using 1:3:4 with filledcurves fc rgb colour(style(i)), \
     reported_without with lines ls 20, reported_with with lines ls 20, \
     for [i=1:arm_count] points index i-1 using 1:2 with lines ls style(i)

unset label; unset arrow
set lmargin at screen 0.630; set rmargin at screen 0.980
set logscale x 2
set xrange [20:500]
set xtics (25, 50, 100, 200, 400)
set yrange [0:100]
set xlabel 'steps between checkpoints (log scale)'
set ylabel 'reduction of the peak, %' offset 1.5,0
set title 'Reduction: simulated, and the closed form' offset 0,-0.5 font ',14'
set label 9 sprintf('reported %.1f %%', reported_percent) at graph 0.98, first reported_percent+4 right textcolor rgb '#333333' front boxed
set label 10 "shaded: the closed form,\nfrom the longest lags to the mean ones" at graph 0.03,0.11 left textcolor rgb '#444444' font ',11'
plot points index arm_count using 1:5:6 with filledcurves fc rgb colour(7), \
     reported_percent with lines ls 20, \
     points index arm_count using 1:2:3:4 with yerrorbars lc rgb colour(1) lw 1.2 pt 0 ps 0, \
     points index arm_count using 1:2 with linespoints ls 1
unset multiplot
