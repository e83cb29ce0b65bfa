"""A dataset version in the record forms of trainers, one small module a form.

1. ``example``     a stored row -> one example: messages with call ids and tool names, arguments as they were logged
2. the forms       ``openai``, ``trl``, ``llama_factory``, ``axolotl``; ``parquet``, ``hugging_face``; ``review``
3. ``form``        what a form is: which kinds it has, a record an example, files beside the records
4. ``write``       a version and a form -> a folder, the same bytes for the same version

No export holds a reference or id of a user, conversation or turn; row n is the nth of its kind and split in the
version.
"""
