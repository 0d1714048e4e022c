"""Plans for getting out: exit plans that the desk carries out, and scale-outs that rest at the broker."""
