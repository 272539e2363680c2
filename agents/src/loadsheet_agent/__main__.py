import sys

from loadsheet_agent.cli import main

sys.exit(main())
