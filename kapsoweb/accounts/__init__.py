"""Accounts, their holdings, and the functions through which every other room reaches a record for somebody."""
