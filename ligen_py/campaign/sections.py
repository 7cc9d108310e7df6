"""Sections of a config from which a stage takes some values."""

from typing import Any, TypeVar

from ligen_py.settings.section import Section

Model = TypeVar("Model", bound=Section)


def narrowed(section: Section, model: type[Model], **other: Any) -> Model:
    """The values of a section that a model has, too, as that model; some with other values."""
    return model(**section.model_dump(include=set(model.model_fields)) | other)
