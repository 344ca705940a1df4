# Success against freshness, what each policy can have with its constants swept: the first hour, the last.
base = ARG1; common = ARG2; terminal_name = ARG3
load common.'/common.gp'
load base.'.vars'
points = base.'.tsv'
page_width = 1180
page_font = 13
if (late_hour == 0 || measured == 0) {
    nothing_said = late_hour == 0 ? 'Not measured: the runs are shorter than the hour that is compared.' : 'Not measured: nothing was committed in these hours.'
    load common.'/nothing.gp'
    exit
}

style(g) = int(word(styles, g))
legend_count = contender_count
legend_name(g) = value(sprintf('legend_%d', g))
legend_colour(g) = colour(style(g))
legend_dash(g) = style(g) + 10
legend_left = 24
legend_top = 122
legend_width = 1136
pushed = legend_rows(legend_width, contender_count) * legend_row
page_height = 712 + pushed
load common.'/page.gp'

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
        set label 1 title_text at screen 0.02,down(27) left font ',19'
        set label 2 caption at screen 0.02,down(57) left textcolor rgb '#444444'
        set label 3 'Lines: settings that no other of the policy beats in both; dots: the others; rings: defaults; bars: 95 % intervals. Up and left is better.' \
            at screen 0.02,down(79) left textcolor rgb '#444444'
        load common.'/legend.gp'
        # As a label: the axis's own would lie on its widest number.
        set label 4 'commit success of the hour, %  (log scale of conflicts)' at screen across(22),down(pushed+390) center rotate
    }
    set lmargin at screen across(120) + 0.480 * h; set rmargin at screen across(590) + 0.480 * h
    set tmargin at screen down(pushed+156); set bmargin at screen down(pushed+624)
    set logscale x
    set xrange [0.6*AGE_min:2*AGE_max]
    set yrange [y_of(0):y_of(99.8)+0.03]
    if (h == 1) { set format y '' }
    set xlabel 'median age of a batch when visible, s (log scale)'
    set title sprintf('Hour %d (reported: %.1f %%)', h == 0 ? 1 : late_hour, reported_success) offset 0,-0.5 font ',14'
    front(g) = 2 * (h * contender_count + g - 1)
    plot y_of(reported_success) with lines ls 20, \
         for [g=1:contender_count] points index front(g)+1 using 3:(y_of($6)) with points pt 7 ps 0.35 lc rgb colour(style(g)), \
         for [g=1:contender_count] points index front(g) using 3:(y_of($6)):($4 > 0 ? $4 : AGE_min):5:(y_of($7)):(y_of($8)) with xyerrorbars lc rgb colour(style(g)) lw 1 pt 0 ps 0, \
         for [g=1:contender_count] points index front(g) using 3:(y_of($6)) with linespoints ls style(g), \
         for [k=0:1] for [g=1:contender_count] points index front(g)+k using ($2 == 1 ? $3 : NaN):(y_of($6)) with points pt 6 ps 2.2 lw 2 lc rgb colour(style(g))
}
unset multiplot
