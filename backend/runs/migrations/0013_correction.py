"""What members corrected in runs and trials, and what their uploads say instead."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0012_trial_printed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='as_read',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='notes',
            field=models.TextField(db_default='', default=''),
        ),
        migrations.AddField(
            model_name='trial',
            name='as_read',
            field=models.JSONField(null=True),
        ),
        migrations.CreateModel(
            name='Correction',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('field', models.CharField(choices=[('server', 'Server'), ('version', 'Version'), ('workload', 'Workload'), ('server_host', 'Server host'), ('client_host', 'Client host'), ('started_at', 'Started'), ('labels', 'Labels'), ('notes', 'Notes')], max_length=12)),
                ('ordinals', models.JSONField(null=True)),
                ('before', models.JSONField(default=list)),
                ('value', models.JSONField(null=True)),
                ('facts', models.JSONField(default=dict)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('undone_at', models.DateTimeField(null=True)),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='corrections', to='runs.run')),
                ('undone_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['made_at', 'pk'],
            },
        ),
    ]
