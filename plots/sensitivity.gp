# One assumption changed at a time: three rows of small panels, one column an assumption.
load ARG2.'/common.gp'
load ARG1.'.vars'
points = ARG1.'.tsv'

if (ARG3 eq 'svg') { set terminal svg size 1280,960 font 'DejaVu Sans,12' background '#ffffff' } \
else { set terminal pngcairo size 1920,1440 font 'DejaVu Sans,12' fontscale 1.5 linewidth 1.5 pointscale 1.5 }
set output ARG1.'.'.ARG3

n = group_count
width = 0.925 / n
label_of(g) = value(sprintf('label_%d', g))
set multiplot
do for [r=0:2] {
    do for [g=1:n] {
        unset label; unset arrow; unset logscale y; set xtics auto rotate by -35 font ',10'
        if (r == 0 && g == 1) {
            set label 1 title_text at screen 0.02,0.972 left font ',18'
            set label 2 caption.', policy dac. One value changes per column; ring: its default.' at screen 0.02,0.938 left textcolor rgb '#444444'
            set label 3 sprintf('hour %d', early_hour) at screen 0.085,0.906 left textcolor rgb '#222222'
            set arrow 3 from screen 0.035,0.906 to screen 0.078,0.906 nohead lc rgb '#56B4E9' lw 2 dt (5,3)
            set label 4 sprintf('hour %d   (bars: 95 %% intervals over seeds, cut at a panel''s edge)', late_hour) at screen 0.225,0.906 left textcolor rgb '#222222'
            set arrow 4 from screen 0.175,0.906 to screen 0.218,0.906 nohead lc rgb '#0072B2' lw 3
        }
        set lmargin at screen 0.070 + (g - 1) * width; set rmargin at screen 0.070 + g * width - 0.022
        set tmargin at screen 0.848 - r * 0.285; set bmargin at screen 0.848 - r * 0.285 - 0.205
        q = 4 + 3 * r
        set xrange [-0.4:value(sprintf('count_%d', g))-0.6]
        if (r == 0) { set yrange [floor(lowest_success - 3):100]; set title label_of(g) offset 0,-0.6 font ',13' } else { unset title }
        if (r == 1) { set yrange [floor(lowest_share - 3):105] }
        if (r == 2) { set logscale y; set yrange [10:10000] }
        if (g == 1) {
            set ylabel (r == 0 ? 'success, %' : r == 1 ? 'MB/s, % of offered' : 'median age, s (log)') offset 1,0
            set format y '%g'
        } else { unset ylabel; set format y '' }
        plot points index 2*g-1 using ($3 == 1 ? $1 : NaN):q with points pt 6 ps 2.2 lw 1.5 lc rgb '#0072B2', \
             points index 2*g-2 using 1:q:q+1:q+2 with yerrorbars lc rgb '#56B4E9' lw 1.5 pt 0, \
             points index 2*g-2 using 1:q with linespoints lc rgb '#56B4E9' lw 1.5 dt (5,3) pt 6 ps 0.7, \
             points index 2*g-1 using 1:q:q+1:q+2 with yerrorbars lc rgb '#0072B2' lw 1.5 pt 0, \
             points index 2*g-1 using 1:q:xticlabels(2) with linespoints lc rgb '#0072B2' lw 2.5 pt 7 ps 0.8
    }
}
unset multiplot
