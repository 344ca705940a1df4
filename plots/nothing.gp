# A page without panels: title, caption, and why (nothing_said).
page_height = 260
load common.'/page.gp'
set label 1 title_text at screen across(24),down(29) left font ',19'
set label 2 caption at screen across(24),down(62) left textcolor rgb '#444444'
set label 3 nothing_said at screen 0.5,down(150) center textcolor rgb '#444444'
unset border; unset tics; unset xlabel; unset ylabel
set xrange [0:1]
set yrange [0:1]
plot 0.5 with lines lc rgb '#ffffff'
