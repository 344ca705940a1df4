# P1 with and without reclamation, four panels on one time axis.
load ARG2.'/common.gp'
load ARG1.'.vars'
points = ARG1.'.tsv'

if (ARG3 eq 'svg') { set terminal svg size 1180,860 font 'DejaVu Sans,13' background '#ffffff' } \
else { set terminal pngcairo size 1770,1290 font 'DejaVu Sans,13' fontscale 1.5 linewidth 1.5 pointscale 1.5 }
set output ARG1.'.'.ARG3

style(i) = int(word(styles, i))
# Without reclamation: thin and dotted; with it: thick.
is_reclaimed(i) = word(reclaimed, i) eq '1'
set multiplot
do for [p=0:3] {
    unset label; unset arrow; unset logscale y
    if (p == 0) {
        set label 1 title_text at screen 0.02,0.972 left font ',19'
        set label 2 caption at screen 0.02,0.940 left textcolor rgb '#444444'
        set label 3 'Thick: with reclamation; dotted: without. Mean over seeds in windows of 15 min; bands: 95 % interval.' \
            at screen 0.02,0.915 left textcolor rgb '#444444'
        n = 0
        do for [i=1:arm_count] {
            if (is_reclaimed(i)) {
                x = 0.02 + n * 0.16
                set arrow 20+i from screen x,0.882 to screen x+0.040,0.882 nohead lc rgb colour(style(i)) lw 3
                set label 20+i word(policies, i) at screen x+0.046,0.882 left
                n = n + 1
            }
        }
    }
    c = p % 2; r = p / 2
    set lmargin at screen 0.080 + 0.500 * c; set rmargin at screen 0.485 + 0.500 * c
    set tmargin at screen 0.825 - 0.415 * r; set bmargin at screen 0.500 - 0.415 * r
    set xrange [0:hours]
    set xtics 1
    set yrange [*:*]
    if (p == 0) { set title 'Size of the manifest' offset 0,-0.6 font ',14'; set ylabel 'MiB (log scale)' offset 1,0; set logscale y }
    if (p == 1) { set title 'Commit success' offset 0,-0.6 font ',14'; set ylabel 'won / decided attempts, %' offset 1,0; set yrange [0:100] }
    if (p == 2) { set title 'Age of a batch when it becomes visible: median' offset 0,-0.6 font ',14'; set ylabel 's (log scale)' offset 1,0; set logscale y }
    if (p == 3) { set title 'Age when visible: 99th percentile' offset 0,-0.6 font ',14'; set ylabel 's (log scale)' offset 1,0; set logscale y }
    if (r == 1) { set xlabel 'time since the start, hours' offset 0,0.4 } else { unset xlabel }
    q = p == 0 ? 2 : p == 1 ? 11 : p == 2 ? 5 : 8
    reported = p == 1 ? reported_success : NaN
    plot reported with lines ls 20, \
         for [i=1:arm_count] points index i-1 using 1:q+1:q+2 with filledcurves fc rgb colour(style(i)), \
         for [i=1:arm_count] points index i-1 using 1:(is_reclaimed(i) ? column(q) : NaN) with lines lc rgb colour(style(i)) lw 3, \
         for [i=1:arm_count] points index i-1 using 1:(is_reclaimed(i) ? NaN : column(q)) with lines lc rgb colour(style(i)) lw 1.6 dt (3,3)
}
unset multiplot
