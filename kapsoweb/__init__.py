"""The lab: settings, jobs, accounts and the doors through which people and machines reach the rooms."""
