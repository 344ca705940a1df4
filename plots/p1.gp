# Every policy over time, eight panels on one time axis.
load ARG2.'/common.gp'
load ARG1.'.vars'
points = ARG1.'.tsv'
n = words(arms)

if (ARG3 eq 'svg') { set terminal svg size 1180,1540 font 'DejaVu Sans,13' background '#ffffff' } \
else { set terminal pngcairo size 1770,2310 font 'DejaVu Sans,13' fontscale 1.5 linewidth 1.5 pointscale 1.5 }
set output ARG1.'.'.ARG3

style(i) = int(word(styles, i))
rows = 4
left(c) = c == 0 ? 0.080 : 0.580
right(c) = left(c) + 0.405
top(r) = 0.878 - r * 0.219
bottom(r) = top(r) - 0.170
# Column of a quantity's mean in the points; its low and high follow.
first(q) = 2 + 3 * q

# Title and legend belong to the first panel, which is drawn once: they stay outside of the data.
set multiplot
do for [p=0:7] {
    r = p / 2
    c = p % 2
    unset label; unset arrow; unset logscale y
    if (p == 0) {
        set label 1 title_text at screen 0.02,0.981 left font ',19'
        set label 2 caption at screen 0.02,0.960 left textcolor rgb '#444444'
        set label 3 'Lines: mean over seeds in windows of '.window.'. Bands: 95 % interval of that mean. Thin grey: what the paper reports for DAC.' \
            at screen 0.02,0.945 left textcolor rgb '#444444'
        do for [i=1:n] {
            x = 0.02 + (i - 1) * 0.96 / n
            set arrow i from screen x,0.920 to screen x+0.045,0.920 nohead lc rgb colour(style(i)) lw (style(i) == 1 ? 3 : 2) dt style(i)+10
            set label 10+i word(arms, i) at screen x+0.051,0.920 left
        }
    }
    set lmargin at screen left(c); set rmargin at screen right(c)
    set tmargin at screen top(r); set bmargin at screen bottom(r)
    set xrange [0:hours]
    set xtics 1
    set yrange [*:*]
    reported = NaN
    if (p == 0) { q = 0; heading = 'Commit success'; set ylabel 'won / decided attempts, %'; set yrange [0:100] }
    if (p == 1) { q = 0; heading = 'Commit success, near the top'; set ylabel 'won / decided attempts, %'; set yrange [80:100] }
    if (p == 2) { q = 1; heading = 'Committed throughput'; set ylabel 'MB/s, all producers'; set yrange [0<*<0.5*offered_mb_s:1.2*offered_mb_s] }
    if (p == 3) { q = 6; heading = "Fairness: Jain's index of an hour's committed bytes"; set ylabel '1 = all equal'; set yrange [0<*<0.85:1.01] }
    if (p == 4) { q = 4; heading = 'Age of a batch when it becomes visible: median'; set ylabel 's (log scale)'; set logscale y }
    if (p == 5) { q = 5; heading = 'Age when visible: 99th percentile'; set ylabel 's (log scale)'; set logscale y }
    if (p == 6) { q = 2; heading = 'Size of the manifest'; set ylabel 'MiB'; set yrange [0:*] }
    if (p == 7) { q = 3; heading = 'Time of one commit attempt'; set ylabel 's'; set yrange [0:*] }
    set title heading offset 0,-0.6 font ',14'
    set ylabel offset 1,0
    if (r == rows - 1) { set xlabel 'time since the start, hours' offset 0,0.4 } else { unset xlabel }
    if (q == 0) { reported = reported_success; said = sprintf('reported %.1f %%', reported) }
    if (q == 1) { reported = reported_mb_s; said = sprintf('reported %.1f MB/s', reported) }
    if (reported == reported) {
        set label 9 said at hours,(p == 0 ? reported - 5.5 : p == 1 ? 99.1 : reported * 1.075) right offset -0.5,0 textcolor rgb '#333333' front boxed
    }
    m = first(q)
    # A short run has no hour of bytes to judge fairness by: an empty panel says so.
    if (word(measured, q + 1) eq '0') {
        set yrange [0:1]
        set label 8 'not measured in so short a run' at graph 0.5,0.5 center textcolor rgb '#444444'
        plot 0.5 with lines lc rgb '#ffffff'
    } else {
        plot for [i=1:n] points index i-1 using 1:m+1:m+2 with filledcurves fc rgb colour(style(i)), \
             reported with lines ls 20, \
             for [i=1:n] points index i-1 using 1:m with lines ls style(i)
    }
}
unset multiplot
