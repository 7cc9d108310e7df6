"""What a chemist asks of a ranked molecule: properties, alerts, drawing, strain, checks."""
