"""`python -m porf_cluster`."""

import sys

from porf_cluster.cli import main

sys.exit(main())
