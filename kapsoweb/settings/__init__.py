"""Settings: `base` is shared; `local` is the lab on one machine, `production` a hosted lab, `test` the suite's own."""
