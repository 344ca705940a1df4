# What all figures share. A script is called as: gnuplot -c plots/NAME.gp BASE SCRIPTS svg|png
# and reads BASE.vars (texts and numbers) and BASE.tsv (points), which lie beside the figure.
set encoding utf8
set datafile missing 'NaN'
set datafile separator '\t'
set termoption noenhanced

# Okabe and Ito: told apart by people who do not see all colours; dashes tell lines apart in print.
palette = '#0072B2 #000000 #E69F00 #009E73 #CC79A7 #D55E00 #56B4E9 #8C6D31 #777777'
colour(i) = word(palette, (int(i) - 1) % 9 + 1)

set style line 1 lc rgb '#0072B2' lw 3.0 dt solid pt 7 ps 0.8
set style line 2 lc rgb '#000000' lw 1.8 dt (4,4) pt 4 ps 0.8
set style line 3 lc rgb '#E69F00' lw 1.8 dt (12,5) pt 8 ps 0.9
set style line 4 lc rgb '#009E73' lw 1.8 dt (14,5,3,5) pt 10 ps 0.9
set style line 5 lc rgb '#CC79A7' lw 1.8 dt (22,7) pt 12 ps 1.0
set style line 6 lc rgb '#D55E00' lw 1.8 dt (12,4,3,4,3,4) pt 6 ps 0.8
set style line 7 lc rgb '#56B4E9' lw 1.8 dt (7,4) pt 5 ps 0.7
set style line 8 lc rgb '#8C6D31' lw 1.8 dt (18,4,4,4) pt 9 ps 0.8
set style line 9 lc rgb '#777777' lw 1.8 dt (3,7) pt 11 ps 0.8
set style line 20 lc rgb '#444444' lw 1.6 dt (6,5)     # what the paper reports
set style line 21 lc rgb '#dddddd' lw 0.7 dt solid     # grid
# The same dashes by number, for lines that are not plotted: dt (style + 10).
set dashtype 11 solid
set dashtype 12 (4,4)
set dashtype 13 (12,5)
set dashtype 14 (14,5,3,5)
set dashtype 15 (22,7)
set dashtype 16 (12,4,3,4,3,4)
set dashtype 17 (7,4)
set dashtype 18 (18,4,4,4)
set dashtype 19 (3,7)
set style textbox opaque fillcolor rgb '#ffffff' noborder margins 0.4,0.2
set style fill transparent solid 0.18 noborder

set grid xtics ytics ls 21
set border 3 lc rgb '#555555'
set tics nomirror out scale 0.5 textcolor rgb '#222222'
unset key
