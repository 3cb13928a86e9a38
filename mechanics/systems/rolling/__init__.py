"""Systems that roll, skate or steer: nonholonomic ones, and mechanisms on wheels."""
