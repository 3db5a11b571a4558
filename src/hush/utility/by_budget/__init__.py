"""A budget for every value: input-discriminative LDP (ID-LDP), by unary encoding whose bits differ."""
