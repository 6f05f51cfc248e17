"""A run as pictures, animations and pages: scenes and panels are data, matplotlib and plotly draw them."""

from rbdae.show.animation import Animation as Animation
from rbdae.show.animation import animate as animate
from rbdae.show.page import check_report as check_report
from rbdae.show.panels import QUANTITIES as QUANTITIES
from rbdae.show.pictures import plot_runs as plot_runs
from rbdae.show.pictures import plot_solution as plot_solution
from rbdae.show.report import facts as facts
from rbdae.show.report import report_run as report_run
from rbdae.show.scene import Line as Line
from rbdae.show.scene import Scene as Scene
from rbdae.show.scene import scene as scene
