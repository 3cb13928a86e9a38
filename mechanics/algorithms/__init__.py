"""Classical algorithms of tree dynamics on packed links: one sweep per file, for one trajectory and for lanes."""
