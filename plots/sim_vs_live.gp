# Simulated curves and live points: a column for each store, success above, MB/s of one producer below.
base = ARG1; common = ARG2; terminal_name = ARG3
load common.'/common.gp'
load base.'.vars'
points = base.'.tsv'
page_width = 1180
page_font = 13
if (measured == 0) {
    nothing_said = 'Not measured: nothing was committed.'
    load common.'/nothing.gp'
    exit
}

style(g) = int(word(styles, g))
of_store(s, g) = word(group_stores, g) eq word(stores, s)
store_count = words(stores)
width = 0.90 / store_count
legend_count = words(policies)
legend_name(i) = word(policies, i)
legend_colour(i) = colour(int(word(policy_styles, i)))
legend_dash(i) = int(word(policy_styles, i)) + 10
legend_left = 24
legend_top = 112
legend_width = 1136
pushed = legend_rows(legend_width, legend_count) * legend_row
page_height = 880 + pushed
load common.'/page.gp'

stats points using 1 nooutput name 'PRODUCERS'
set multiplot
do for [q=1:2] {
    do for [s=1:store_count] {
        unset label; unset arrow
        if (q == 1 && s == 1) {
            set label 1 title_text at screen 0.02,down(27) left font ',19'
            set label 2 caption at screen 0.02,down(58) left textcolor rgb '#444444' font ',12'
            set label 3 'Lines: simulated, bars: 95 % intervals over seeds; rings: live.' at screen 0.02,down(82) left textcolor rgb '#444444'
            load common.'/legend.gp'
        }
        set lmargin at screen 0.075 + width * (s - 1); set rmargin at screen 0.020 + width * s
        set tmargin at screen down(pushed + (q == 1 ? 140 : 482)); set bmargin at screen down(pushed + (q == 1 ? 428 : 783))
        set logscale x 2
        set xrange [0.85*PRODUCERS_min:1.18*PRODUCERS_max]
        set xtics (@twos)
        if (q == 1) { set yrange [*<50:102]; set title word(stores, s) offset 0,-0.5 font ',14'; unset xlabel } \
        else { set yrange [0:*]; unset title; set xlabel 'producers (log scale)' }
        if (s == 1) { set ylabel (q == 1 ? 'commit success, %' : 'committed, MB/s of one producer') offset 1.5,0 } else { unset ylabel }
        c = q == 1 ? 2 : 5
        l = q == 1 ? 8 : 9
        per(x) = q == 1 ? 1 : x
        plot for [g=1:group_count] points index g-1 using (of_store(s, g) ? $1 : NaN):(column(c)/per($1)):(column(c+1)/per($1)):(column(c+2)/per($1)) with yerrorbars lc rgb colour(style(g)) lw 1.2 pt 0 ps 0, \
             for [g=1:group_count] points index g-1 using (of_store(s, g) ? $1 : NaN):(column(c)/per($1)) with lines ls style(g), \
             for [g=1:group_count] points index g-1 using (of_store(s, g) ? $1 : NaN):(column(l)/per($1)) with points pt 6 ps 1.6 lw 2.2 lc rgb colour(style(g))
    }
}
unset multiplot
