"""`python -m ligen_py` is the command `ligen`."""

import sys

from ligen_py.command import main

sys.exit(main())
