"""The GraphQL door: who asks, how much a query may ask for, and every error in one shape. Rooms bring their fields."""
