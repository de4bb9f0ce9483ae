"""Who is asking: people, teams, invitations, requests about one's data."""
