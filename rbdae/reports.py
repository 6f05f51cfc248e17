"""The reports of `rbdae.show` by an older name."""

from rbdae.show import check_report as check_report
from rbdae.show import report_run as report_run
