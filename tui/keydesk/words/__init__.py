"""The words of the screen for records: outcomes, reasons of the broker, log lines, notifications, orders, outages."""
