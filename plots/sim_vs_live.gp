# Simulated curves and live points: a column for each store, success above, MB/s of one producer below.
load ARG2.'/common.gp'
load ARG1.'.vars'
points = ARG1.'.tsv'

if (ARG3 eq 'svg') { set terminal svg size 1180,900 font 'DejaVu Sans,13' background '#ffffff' } \
else { set terminal pngcairo size 1770,1350 font 'DejaVu Sans,13' fontscale 1.5 linewidth 1.5 pointscale 1.5 }
set output ARG1.'.'.ARG3

style(g) = int(word(styles, g))
of_store(s, g) = word(group_stores, g) eq word(stores, s)
store_count = words(stores)
width = 0.90 / store_count
set multiplot
do for [q=1:2] {
    do for [s=1:store_count] {
        unset label; unset arrow
        if (q == 1 && s == 1) {
            set label 1 title_text at screen 0.02,0.970 left font ',19'
            set label 2 caption at screen 0.02,0.935 left textcolor rgb '#444444' font ',12'
            set label 3 'Lines: simulated, bars: 95 % intervals over seeds; rings: live.' at screen 0.02,0.908 left textcolor rgb '#444444'
            n = 0
            do for [g=1:group_count] {
                if (of_store(1, g)) {
                    x = 0.06 + n * 0.15
                    set arrow 10+g from screen x,0.022 to screen x+0.045,0.022 nohead lc rgb colour(style(g)) lw 2 dt style(g)+10
                    set label 10+g word(groups, g) at screen x+0.052,0.022 left
                    n = n + 1
                }
            }
        }
        set lmargin at screen 0.075 + width * (s - 1); set rmargin at screen 0.020 + width * s
        set tmargin at screen q == 1 ? 0.850 : 0.470; set bmargin at screen q == 1 ? 0.530 : 0.135
        set logscale x 2
        set xrange [0.85:19]
        set xtics (1, 2, 4, 8, 16)
        if (q == 1) { set yrange [50:102]; set title word(stores, s) offset 0,-0.5 font ',14'; unset xlabel } \
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
