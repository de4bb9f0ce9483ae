"""How a judge is asked, and how its words become a verdict."""
