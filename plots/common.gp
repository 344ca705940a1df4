# What all figures share. A script is called as: gnuplot -c plots/NAME.gp BASE SCRIPTS svg|png
# (base, common and terminal_name in the script) and reads BASE.vars (texts and numbers) and BASE.tsv (points), which lie beside the figure.
set encoding utf8
set datafile missing 'NaN'
set datafile separator '\t'

# One policy has one colour in all figures (experiments/figures/figure_style.c gives out the numbers),
# after Okabe and Ito: told apart by people who do not see all colours; dashes tell lines apart in print.
# 1 dac; 2 to 4 fixed, in one hue; 5 aimd; 6 incr; 7, 8 other kinds of dac; 9 to 12 other policies.
palette = '#0072B2 #7A2E00 #D55E00 #F0A04B #009E73 #CC79A7 #56B4E9 #1B3A57 #8C6D31 #6A51A3 #000000 #B2182B'
colour(i) = word(palette, (int(i) - 1) % 12 + 1)

set style line 1 lc rgb colour(1) lw 3.0 dt solid pt 7 ps 0.8
set style line 2 lc rgb colour(2) lw 1.8 dt (4,4) pt 4 ps 0.8
set style line 3 lc rgb colour(3) lw 1.8 dt (12,5) pt 8 ps 0.9
set style line 4 lc rgb colour(4) lw 1.8 dt (18,4,4,4) pt 9 ps 0.8
set style line 5 lc rgb colour(5) lw 1.8 dt (14,5,3,5) pt 10 ps 0.9
set style line 6 lc rgb colour(6) lw 1.8 dt (22,7) pt 12 ps 1.0
set style line 7 lc rgb colour(7) lw 1.8 dt (7,4) pt 5 ps 0.7
set style line 8 lc rgb colour(8) lw 1.8 dt (12,4,3,4,3,4) pt 6 ps 0.8
set style line 9 lc rgb colour(9) lw 1.8 dt (3,7) pt 11 ps 0.8
set style line 10 lc rgb colour(10) lw 1.8 dt (4,4) pt 4 ps 0.8
set style line 11 lc rgb colour(11) lw 1.8 dt (12,5) pt 8 ps 0.9
set style line 12 lc rgb colour(12) lw 1.8 dt (14,5,3,5) pt 10 ps 0.9
set style line 20 lc rgb '#8a8a8a' lw 1.1 dt solid     # what the paper reports
set style line 21 lc rgb '#dddddd' lw 0.7 dt solid     # grid
# The same dashes by number, for lines that are not plotted: dt (style + 10).
set dashtype 11 solid
set dashtype 12 (4,4)
set dashtype 13 (12,5)
set dashtype 14 (18,4,4,4)
set dashtype 15 (14,5,3,5)
set dashtype 16 (22,7)
set dashtype 17 (7,4)
set dashtype 18 (12,4,3,4,3,4)
set dashtype 19 (3,7)
set dashtype 20 (4,4)
set dashtype 21 (12,5)
set dashtype 22 (14,5,3,5)

set style textbox opaque fillcolor rgb '#ffffff' noborder margins 0.4,0.2
set style fill transparent solid 0.18 noborder

set grid xtics ytics ls 21
set border 3 lc rgb '#555555'
set tics nomirror out scale 0.5 textcolor rgb '#222222'
unset key

# ---- pages: laid out in pixels from the top left corner, whatever the terminal -----------------
# A script sets page_width, page_height and page_font, loads page.gp, and places what it draws by these.
across(x) = x / real(page_width)
down(y) = 1 - y / real(page_height)
larger(a, b) = a > b ? a : b

# A legend stands above the panels: in rows, as many columns as the longest name leaves room for.
# legend.gp draws it; before, a script sets legend_count, legend_width, legend_left and legend_top,
# and these functions of an entry; legend_kind: 0 a line, 1 a ring, 2 a band, 3 a dot.
legend_name(i) = ''
legend_colour(i) = '#000000'
legend_lw(i) = 2
legend_dash(i) = 11
legend_kind(i) = 0
legend_row = 26
letter = 9.6
longest_name(i) = i < 1 ? 0 : larger(strlen(legend_name(i)), longest_name(i - 1))
legend_most(width, n) = larger(1, int(width / (84 + letter * longest_name(n))))
legend_rows(width, n) = n < 1 ? 0 : int(ceil(n / real(legend_most(width, n))))
legend_columns(width, n) = int(ceil(n / real(legend_rows(width, n))))

# Ticks of a logarithmic axis of counts, at every second one, or at each.
fours = '1, 4, 16, 64, 256, 1024, 4096, 16384, 65536'
twos = '1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384'

# A time axis that may be minutes long, or months.
time_step(span) = span > 2.5 && span < 13 ? 1 : 0
