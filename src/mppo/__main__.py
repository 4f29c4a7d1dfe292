"""`python -m mppo` is `mppo`."""

import sys

from mppo.cli import main

sys.exit(main())
