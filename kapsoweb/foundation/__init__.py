"""What every room stands on: canonical JSON, digests, identifiers, strict readers and errors. No Django here."""
