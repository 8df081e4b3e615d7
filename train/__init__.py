"""Training of the gate and the conflict detector, installed as `calm.train`. So far: the generated pairs."""
