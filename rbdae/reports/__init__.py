"""Reports: a run, or a comparison, as one HTML file that opens without a network."""

from rbdae.reports.request import check_report as check_report
from rbdae.reports.run import report_run as report_run
