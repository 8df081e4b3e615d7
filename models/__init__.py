"""Weights of the gate and the conflict detector, installed as `calm.models`. None are shipped yet."""
