# Success against freshness, one curve a policy with its constant swept: the first hour, the last.
load ARG2.'/common.gp'
load ARG1.'.vars'
points = ARG1.'.tsv'

if (ARG3 eq 'svg') { set terminal svg size 1180,760 font 'DejaVu Sans,13' background '#ffffff' } \
else { set terminal pngcairo size 1770,1140 font 'DejaVu Sans,13' fontscale 1.5 linewidth 1.5 pointscale 1.5 }
set output ARG1.'.'.ARG3

style(g) = int(word(styles, g))
count(g) = int(word(counts, g))
# Where a curve's first and last value stand beside their points, by style: across, up.
shift(across, g) = real(word(across, style(g)))
first_across = '-2.8 2.0 2.0 2.0 0 3.2 2.6 2.8 1.8 1.8 1.8 1.8'
first_up = '0.3 -0.2 -0.2 -0.2 -0.9 -0.7 -0.9 -0.4 0 0 0 0'
last_across = '-2.2 0 0 0 1.8 -2.6 2.4 0 2.0 2.0 2.0 2.0'
last_up = '0.5 0.9 0.9 0.9 0.5 0.5 -0.2 -1.0 0 0 0 0'

# Success on a scale of conflicts, so that 90, 95 and 99 % are told apart; above 99.8 % is drawn there.
y_of(v) = -log10(v > 99.8 ? 0.2 : 100 - v)
set ytics ('0' y_of(0), '50' y_of(50), '70' y_of(70), '80' y_of(80), '90' y_of(90), '95' y_of(95), '98' y_of(98), \
    '99' y_of(99), '≥ 99.8' y_of(99.8))

# One x axis for both panels.
stats points using 3 nooutput name 'AGE'
set multiplot
do for [h=0:1] {
    unset label; unset arrow
    if (h == 0) {
        set label 1 title_text at screen 0.02,0.965 left font ',19'
        set label 2 caption at screen 0.02,0.925 left textcolor rgb '#444444'
        set label 3 'Points: values of the constant, first and last named; ring: default; bars: 95 % intervals; thin grey: reported. Up and left is better.' \
            at screen 0.02,0.896 left textcolor rgb '#444444'
        do for [g=1:group_count] {
            x = 0.04 + ((g - 1) % 3) * 0.32
            y = 0.088 - ((g - 1) / 3) * 0.042
            set arrow g from screen x,y to screen x+0.045,y nohead lc rgb colour(style(g)) lw 2 dt style(g)+10
            set label 10+g word(groups, g).': '.word(swept, g) at screen x+0.052,y left
        }
    }
    set lmargin at screen 0.098 + 0.485 * h; set rmargin at screen 0.500 + 0.485 * h
    set tmargin at screen 0.825; set bmargin at screen 0.215
    set logscale x
    set xrange [0.6*AGE_min:2*AGE_max]
    set yrange [y_of(0):y_of(99.8)+0.03]
    set ylabel 'commit success of the hour, %  (log scale of conflicts)' offset 1.5,0
    if (h == 1) { unset ylabel; set format y '' }
    set xlabel 'median age of a batch when visible, s (log scale)'
    set title sprintf('Hour %d', h == 0 ? 1 : late_hour) offset 0,-0.5 font ',14'
    set label 9 sprintf('reported %.1f %%', reported_success) at graph 0.02, first y_of(reported_success)+0.09 left textcolor rgb '#333333' front boxed
    plot y_of(reported_success) with lines ls 20, \
         for [g=1:group_count] points index h*group_count+g-1 using 3:(y_of($6)):($4 > 0 ? $4 : AGE_min):5:(y_of($7)):(y_of($8)) with xyerrorbars lc rgb colour(style(g)) lw 1 pt 0 ps 0, \
         for [g=1:group_count] points index h*group_count+g-1 using 3:(y_of($6)) with linespoints ls style(g), \
         for [g=1:group_count] points index h*group_count+g-1 using ($2 == 1 ? $3 : NaN):(y_of($6)) with points pt 6 ps 2.2 lw 2 lc rgb colour(style(g)), \
         for [g=1:group_count] points index h*group_count+g-1 every ::0::0 using 3:(y_of($6)):1 with labels font ',10' textcolor rgb colour(style(g)) offset shift(first_across, g),shift(first_up, g), \
         for [g=1:group_count] points index h*group_count+g-1 every ::count(g)-1::count(g)-1 using 3:(y_of($6)):1 with labels font ',10' textcolor rgb colour(style(g)) offset shift(last_across, g),shift(last_up, g)
}
unset multiplot
