"""What a suite is: specifications, grid expansion, identity, composition of configuration."""
