"""Training of the gate and the conflict detector, installed as `calm.train`. Nothing is implemented yet."""
