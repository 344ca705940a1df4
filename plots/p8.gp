# A timeline: where the ranks are, how far behind, and what each producer commits.
load ARG2.'/common.gp'
load ARG1.'.vars'
points = ARG1.'.tsv'

if (ARG3 eq 'svg') { set terminal svg size 1180,940 font 'DejaVu Sans,13' background '#ffffff' } \
else { set terminal pngcairo size 1770,1410 font 'DejaVu Sans,13' fontscale 1.5 linewidth 1.5 pointscale 1.5 }
set output ARG1.'.'.ARG3

kind(i) = word(incident_kinds, i)
from(i) = word(incident_from, i) + 0.0
until(i) = word(incident_until, i) + 0.0
said(i) = kind(i) eq 'outage' ? 'store away' : kind(i) eq 'producer' ? 'producers '.word(incident_processes, i).' dead' : \
    kind(i) eq 'rank' ? 'rank '.word(incident_processes, i).' dead' : 'ranks '.word(incident_processes, i).' go back'
shade(i) = kind(i) eq 'outage' ? colour(12) : kind(i) eq 'producer' ? colour(3) : colour(7)
set multiplot
do for [p=0:2] {
    unset label; unset arrow; unset object
    if (p == 0) {
        set label 1 title_text at screen 0.02,0.974 left font ',19'
        set label 2 caption.'; the first seed' at screen 0.02,0.946 left textcolor rgb '#444444'
        do for [i=1:incident_count] {
            set label 10+i said(i) at first from(i), graph 1.04 left font ',11' textcolor rgb '#333333'
        }
    }
    do for [i=1:incident_count] {
        set object i rectangle from first from(i), graph 0 to first until(i), graph 1 behind fc rgb shade(i) fs transparent solid 0.20 noborder
    }
    set lmargin at screen 0.080; set rmargin at screen 0.975
    set tmargin at screen 0.885 - 0.293 * p; set bmargin at screen 0.662 - 0.293 * p
    set xrange [0:minutes]
    set yrange [0:*]
    set xtics 1
    if (p == 2) { set xlabel 'time since the start, minutes' offset 0,0.4 } else { unset xlabel }
    if (p == 0) {
        set ylabel 'step' offset 1,0
        set label 5 'committed: black; each rank: blue; floor: brown, dotted' at graph 0.01,0.92 left font ',12' textcolor rgb '#333333'
        plot points using 1:2 with lines lc rgb '#000000' lw 2, \
             points using 1:3 with lines lc rgb colour(2) lw 1.8 dt (4,4), \
             for [r=1:ranks] points using 1:(column(3+r) > 0 ? column(3+r) : NaN) with lines lc rgb colour(1) lw 1.2
    }
    if (p == 1) {
        set ylabel 'steps behind' offset 1,0
        set label 5 'committed, and not given to the rank: one line a rank' at graph 0.01,0.92 left font ',12' textcolor rgb '#333333'
        plot for [r=1:ranks] points using 1:(column(2)-column(3+r)) with lines lc rgb colour(r == 4 ? 6 : 1) lw 1.2
    }
    if (p == 2) {
        set ylabel 'batches' offset 1,0
        set label 5 'committed by each producer; 0 and 1 die' at graph 0.01,0.92 left font ',12' textcolor rgb '#333333'
        plot for [i=1:producers] points using 1:(column(3+ranks+i)) with steps lc rgb colour(i <= 2 ? 3 : 5) lw 1.4
    }
}
unset multiplot
