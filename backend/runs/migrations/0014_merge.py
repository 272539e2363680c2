"""Which names members merged, and what to give back when that is undone."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_remove_pepper_version'),
        ('runs', '0013_correction'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Merge',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('server', 'Server'), ('host', 'Host'), ('workload', 'Workload')], max_length=10)),
                ('source', models.CharField(max_length=200)),
                ('target', models.CharField(max_length=200)),
                ('rows', models.JSONField(default=list)),
                ('former_names', models.JSONField(default=dict)),
                ('merged_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('undone_at', models.DateTimeField(null=True)),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('undone_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.workspace')),
            ],
            options={
                'ordering': ['-merged_at'],
                'indexes': [models.Index(fields=['workspace', 'kind'], name='merge_by_kind')],
            },
        ),
    ]
