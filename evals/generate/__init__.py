"""Questions from documents: drafted by a model, checked by rules, and answered blind before they are accepted."""
