# A timeline: where the ranks are, how far behind, and what each producer commits.
base = ARG1; common = ARG2; terminal_name = ARG3
load common.'/common.gp'
load base.'.vars'
points = base.'.tsv'

kind(i) = word(incident_kinds, i)
from(i) = word(incident_from, i) + 0.0
until(i) = word(incident_until, i) + 0.0
said(i) = kind(i) eq 'outage' ? 'store away' : kind(i) eq 'producer' ? 'producers '.word(incident_processes, i).' dead' : \
    kind(i) eq 'rank' ? (strstrt(word(incident_processes, i), '-') > 0 ? 'ranks ' : 'rank ').word(incident_processes, i).' dead' : 'ranks '.word(incident_processes, i).' go back'
shade(i) = kind(i) eq 'outage' ? colour(12) : kind(i) eq 'producer' ? colour(3) : colour(7)
dies(processes, i) = word(processes, i) eq '1'
rank_colour(r) = colour(dies(rank_dies, r) ? 6 : 1)
producer_colour(i) = colour(dies(producer_dies, i) ? 3 : 5)

# One legend for each panel, above it.
names_0 = 'committed,given to a rank,floor of what is kept'
names_1 = strstrt(rank_dies, '1') > 0 ? 'of a rank,of one that dies' : 'of a rank'
names_2 = strstrt(producer_dies, '1') > 0 ? 'of a producer,of one that dies' : 'of a producer'
colours_0 = '11 1 2'
colours_1 = '1 6'
colours_2 = '5 3'
entry(p) = value(sprintf('names_%d', p))
commas(text) = strlen(text) < 1 ? 0 : (text[1:1] eq ',') + commas(text[2:*])
cut_at(text, i) = i == 1 ? (strstrt(text, ',') > 0 ? text[1:strstrt(text, ',')-1] : text) : cut_at(text[strstrt(text, ',')+1:*], i - 1)
legend_left = 94
legend_width = 1050
panel = 0
legend_name(i) = cut_at(entry(panel), i)
legend_colour(i) = colour(int(word(value(sprintf('colours_%d', panel)), i)))
legend_dash(i) = panel == 0 && i == 3 ? 12 : 11

# What happens stands above the first panel: on one line if there is room, else on three, else each on its own.
late(i) = from(i) > 0.8 * minutes
said_width(i) = 8.0 * strlen(said(i)) + 8
pixel(t) = 94 + 1056 * t / minutes
said_left(i) = late(i) ? pixel(until(i)) - said_width(i) : pixel(from(i))
room(lines, i) = i + lines > incident_count ? 1 : said_left(i) + said_width(i) < said_left(i + lines) ? room(lines, i + 1) : 0
lines_of_said = room(1, 1) ? 1 : room(3, 1) ? 3 : incident_count
pushed = lines_of_said * 20
page_width = 1180
page_height = 956 + pushed
page_font = 13
load common.'/page.gp'

top(p) = 115 + pushed + p * 284
set multiplot
do for [p=0:2] {
    unset label; unset arrow; unset object
    panel = p
    if (p == 0) {
        set label 1 title_text at screen 0.02,down(24) left font ',19'
        set label 2 caption.'; the first seed' at screen 0.02,down(51) left textcolor rgb '#444444'
        do for [i=1:incident_count] {
            place = down(top(0) - 12 - 20 * ((i - 1) % lines_of_said))
            if (late(i)) { set label 10+i said(i).' ' at first until(i), screen place right font ',11' textcolor rgb '#333333' } \
            else { set label 10+i said(i) at first from(i), screen place left font ',11' textcolor rgb '#333333' }
        }
    }
    do for [i=1:incident_count] {
        set object i rectangle from first from(i), graph 0 to first until(i), graph 1 behind fc rgb shade(i) fs transparent solid 0.20 noborder
    }
    legend_top = p == 0 ? 82 : top(p) - 22
    legend_count = 1 + commas(entry(p))
    load common.'/legend.gp'
    set lmargin at screen 0.080; set rmargin at screen 0.975
    set tmargin at screen down(top(p)); set bmargin at screen down(top(p)+205)
    set xrange [0:minutes]
    set yrange [0:*]
    set xtics auto
    if (p == 2) { set xlabel 'time since the start, minutes' offset 0,0.4 } else { unset xlabel }
    set ylabel (p == 0 ? 'step' : p == 1 ? 'steps behind' : 'batches committed') offset 1,0
    # More processes than are shown have no lines of their own.
    shown = p < 2 ? ranks : producers
    if (p > 0 && shown == 0) {
        set label 5 'more processes than have lines of their own' at graph 0.5,0.5 center textcolor rgb '#444444'
        set yrange [0:1]
    }
    if (p == 0) {
        plot points using 1:2 with lines lc rgb '#000000' lw 2, \
             points using 1:3 with lines lc rgb colour(2) lw 1.8 dt (4,4), \
             for [r=1:ranks] points using 1:(column(3+r) > 0 ? column(3+r) : NaN) with lines lc rgb colour(1) lw 1.2
    }
    if (p == 1) {
        plot -1 with lines lc rgb '#ffffff', \
             for [r=1:ranks] points using 1:(column(2)-column(3+r)) with lines lc rgb rank_colour(r) lw 1.2
    }
    if (p == 2) {
        plot -1 with lines lc rgb '#ffffff', \
             for [i=1:producers] points using 1:(column(3+ranks+i)) with steps lc rgb producer_colour(i) lw 1.4
    }
}
unset multiplot
