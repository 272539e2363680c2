"""Titles and fields of allauth's pages, written as ours are."""

import re

from django.forms import BoundField
from django.template import Library
from django.template.defaultfilters import stringfilter
from django.utils.safestring import SafeString

register = Library()

_LATER_CAPITAL = re.compile(r"(?<=\w[ -])[A-Z](?=[a-z]+\b)")


@register.filter(is_safe=True)
@stringfilter
def sentence_case(title: str) -> str:
    """Such as "Add email address" of "Add Email Address"; "IP" stays as it is."""
    return _LATER_CAPITAL.sub(lambda capital: capital[0].lower(), title)


@register.filter
def without_placeholder(field: BoundField) -> SafeString:
    """The input alone: its placeholder would repeat its label."""
    return field.as_widget(attrs={"placeholder": False})
