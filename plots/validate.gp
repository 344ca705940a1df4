# Contention on one key: a column for each store, a row for each quantity, the measurement in black.
base = ARG1; common = ARG2; terminal_name = ARG3
load common.'/common.gp'
load base.'.vars'
points = base.'.tsv'
page_width = 1180
page_height = 1340
page_font = 13
load common.'/page.gp'
stats points using 1 nooutput name 'CLIENTS'

# Blocks of points by store: measured, then each model. Styles: simple, contended, left out.
blocks = words(models) + 1
style(m) = m == 1 ? 3 : m == 2 ? 1 : 5
block(s, m) = (s - 1) * blocks + m
ylabel(q) = word('successes/s failed,_% median_of_successes,_ms p99_of_successes,_ms', q)
spaced(t) = system("printf '%s' '".t."' | tr _ ' '")
top(q) = 0.880 - (q - 1) * 0.216
set multiplot
do for [q=1:4] {
    do for [s=1:2] {
        unset label; unset arrow
        if (q == 1 && s == 1) {
            set label 1 title_text at screen 0.02,0.978 left font ',19'
            set label 2 caption at screen 0.02,0.953 left textcolor rgb '#444444' font ',12'
            set arrow 3 from screen 0.020,0.926 to screen 0.060,0.926 nohead lc rgb '#000000' lw 2.5 dt (4,4)
            set label 3 'measured' at screen 0.066,0.926 left
            set arrow 4 from screen 0.165,0.926 to screen 0.205,0.926 nohead lc rgb colour(3) lw 2 dt 13
            set label 4 'simple model' at screen 0.211,0.926 left
            set arrow 5 from screen 0.345,0.926 to screen 0.385,0.926 nohead lc rgb colour(1) lw 3
            set label 5 'contended model, fitted to all rows' at screen 0.391,0.926 left
            set arrow 6 from screen 0.690,0.926 to screen 0.730,0.926 nohead lc rgb colour(5) lw 2 dt 15
            set label 6 'fitted without N = 4, 16 (rings)' at screen 0.736,0.926 left
        }
        set lmargin at screen 0.075 + 0.485 * (s - 1); set rmargin at screen 0.500 + 0.485 * (s - 1)
        set tmargin at screen top(q); set bmargin at screen top(q) - 0.158
        set logscale x 2
        set xrange [0.85*CLIENTS_min:1.18*CLIENTS_max]
        set xtics (@twos)
        set yrange [0:*]
        if (q == 2) { set yrange [0:100] }
        if (s == 1) { set ylabel spaced(ylabel(q)) offset 1.5,0 } else { unset ylabel }
        if (q == 1) { set title word(stores, s) offset 0,-0.5 font ',14' } else { unset title }
        if (q == 4) { set xlabel 'clients N (log scale)' } else { unset xlabel }
        c = 3 * q
        plot for [m=1:3] points index block(s, m) using 1:c:c+1:c+2 with yerrorbars lc rgb colour(style(m)) lw 1.2 pt 0 ps 0, \
             for [m=1:3] points index block(s, m) using 1:c with linespoints ls style(m), \
             points index block(s, 3) using ($2 == 1 ? $1 : NaN):c with points pt 6 ps 2.2 lw 2 lc rgb colour(5), \
             points index block(s, 0) using 1:c with linespoints lc rgb '#000000' lw 2.2 dt (4,4) pt 5 ps 0.8
    }
}
unset multiplot
