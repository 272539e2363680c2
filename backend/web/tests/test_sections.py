"""The tags that draw a part of a page with its heading, and a field with its label."""

from django.template import Context, Template
from django.template.loader import render_to_string


def rendered(text):
    return Template(text).render(Context({"name": "<b>"}))


def test_a_section_is_named_by_its_heading():
    html = rendered(
        '{% section "queues" "Queues" classes="apart" %}<p>{{ name }}</p>{% endsection %}'
    )
    assert html == (
        '<section class="apart" aria-labelledby="queues">'
        '<h2 id="queues" class="section-head">Queues</h2><p>&lt;b&gt;</p></section>'
    )


def test_a_section_may_have_a_link_beside_its_heading():
    html = rendered('{% section "runs" "Runs" url="/runs" link="All" %}{% endsection %}')
    assert (
        '<div class="section-head"><h2 id="runs">Runs</h2>\n<a href="/runs">All</a></div>' in html
    )


def test_a_field_has_its_label_and_what_its_input_is_described_by():
    html = rendered('{% field "days" "Days" hint=name %}<input id="days">{% endfield %}')
    assert html == (
        '<div class="field"><label for="days">Days</label><input id="days">'
        '<p class="hint" id="days-help">&lt;b&gt;</p></div>'
    )


def test_a_new_share_offers_members_first_whatever_else_is_chosen_on_the_page():
    page = {"share_url": "/share", "chosen": "public", "is_run": True}
    html = render_to_string("partials/share_menu.html", page)
    assert "selected" not in html
    assert "Who may read it" in html


def test_a_button_that_posts_is_a_form_with_what_it_sends():
    template = (
        '{% post_button "Remove" "make-workspace-link" "team" about=name kind="bold" is_sure=1 %}'
    )
    html = Template(template).render(Context({"name": "<b>", "csrf_token": "secret"}))
    assert html == (
        '<form method="post" action="/w/team/link">'
        '<input type="hidden" name="csrfmiddlewaretoken" value="secret">'
        '<input type="hidden" name="is_sure" value="1">'
        '<button class="button bold" type="submit">'
        'Remove<span class="visually-hidden">: &lt;b&gt;</span></button></form>'
    )
