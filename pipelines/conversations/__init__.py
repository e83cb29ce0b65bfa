"""Landed items become turns, turns become conversations."""
