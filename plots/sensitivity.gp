# One assumption changed at a time: three rows of small panels, one column an assumption.
base = ARG1; common = ARG2; terminal_name = ARG3
load common.'/common.gp'
load base.'.vars'
points = base.'.tsv'
page_width = 1280
page_font = 12
if (late_hour == 0 || measured == 0) {
    nothing_said = late_hour == 0 ? 'Not measured: the runs are shorter than the hour that is compared.' : 'Not measured: nothing was committed in these hours.'
    load common.'/nothing.gp'
    exit
}

# Six columns at most side by side, then below.
n = group_count
bands = int(ceil(n / 6.0))
columns = int(ceil(n / real(bands)))
width = 0.925 / columns
page_height = 116 + 844 * bands
load common.'/page.gp'
label_of(g) = value(sprintf('label_%d', g))
decade(v) = 10**floor(log10(v))
set multiplot
do for [r=0:2] {
    do for [g=1:n] {
        unset label; unset arrow; unset logscale y; set xtics auto rotate by -35 font ',10'
        if (r == 0 && g == 1) {
            set label 1 title_text at screen 0.02,down(27) left font ',18'
            set label 2 caption.', policy dac. One value changes per column; ring: its default.' at screen 0.02,down(60) left textcolor rgb '#444444'
            set label 3 sprintf('hour %d', early_hour) at screen 0.085,down(90) left textcolor rgb '#222222'
            set arrow 3 from screen 0.035,down(90) to screen 0.078,down(90) nohead lc rgb '#56B4E9' lw 2 dt (5,3)
            set label 4 sprintf('hour %d   (bars: 95 %% intervals over seeds, cut at a panel''s edge)', late_hour) at screen 0.225,down(90) left textcolor rgb '#222222'
            set arrow 4 from screen 0.175,down(90) to screen 0.218,down(90) nohead lc rgb '#0072B2' lw 3
        }
        column_of = (g - 1) % columns
        top = 146 + ((g - 1) / columns) * 844 + r * 273
        set lmargin at screen 0.070 + column_of * width; set rmargin at screen 0.070 + (column_of + 1) * width - 0.022
        set tmargin at screen down(top); set bmargin at screen down(top+197)
        q = 4 + 3 * r
        set xrange [-0.4:value(sprintf('count_%d', g))-0.6]
        # A key without a better name may be long.
        if (r == 0) { set title label_of(g) offset 0,-0.6 font (strlen(label_of(g)) * 10 * columns > 1184 ? ',9' : ',13') } else { unset title }
        if (r == 0) { set yrange [floor(lowest_success - 3):100] }
        if (r == 1) { set yrange [floor(lowest_share - 3):ceil(highest_share + 5)] }
        if (r == 2) { set logscale y; set yrange [decade(lowest_age):10*decade(0.999*highest_age)] }
        if (column_of == 0) {
            set ylabel (r == 0 ? 'success, %' : r == 1 ? 'MB/s, % of offered' : 'median age, s (log)') offset (r == 1 ? 0.1 : 1),0
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
