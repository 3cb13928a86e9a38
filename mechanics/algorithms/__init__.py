"""Classical algorithms of tree dynamics on packed rows: one sweep per file, for one trajectory and for lanes."""
